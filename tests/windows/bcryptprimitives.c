/* bcryptprimitives.dll for wine before 9, which has none: the one function of it that Rust's standard library calls.
 * Only for tests, and only beside programs that run in wine; Windows has its own. */
#include <windows.h>

#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *data, SIZE_T size);
BOOL WINAPI ProcessPrng(BYTE *data, SIZE_T size) { return RtlGenRandom(data, (ULONG)size); }
