# Sourced by the checks: says which passed, and notes in $failed whether one did not.
failed=0
report() { # report STATUS SENTENCE
  if [ "$1" -eq 0 ]; then
    echo "ok      $2"
  else
    echo "FAILED  $2"
    failed=1
  fi
}
