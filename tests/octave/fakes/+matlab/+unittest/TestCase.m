classdef TestCase < handle
  methods
    function applyFixture (~, ~)
    end
    function verifyEmpty (~, why)
      assert (isempty (why), why);
    end
  end
end
