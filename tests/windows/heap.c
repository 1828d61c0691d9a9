/* What count_malloc.c and fail_malloc.c are on Linux: counts every request for memory, and refuses one when told to.
 *
 * A module calls the system through its table of imports. In every module of the process, the entries for the functions
 * below are replaced by our own, which count and pass on. That is done again each time a test looks at the counter, for
 * modules that have come since. What counts: the heap, on which malloc of the C runtime and the allocator of Rust are
 * built, pages of the system's, and threads, which need a stack. */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <windows.h>

#include <psapi.h>
#include <winternl.h>

#include "fail_malloc.h"

unsigned long count_malloc_calls(void);
long resident_kilobytes(void);

static atomic_ulong calls;
/* Blocks of the heap and of pages that are alive in the whole process, since the first look. */
static atomic_long live;

/* The one thread that is refused memory, if any. Thread-local memory would itself be allocated. */
static DWORD failing_thread;
static unsigned long requests, first_to_fail;
static int all_that_follow;

static int refused(void) {
  calls++;
  if (GetCurrentThreadId() != failing_thread) return 0;
  requests++;
  if (first_to_fail == 0 || requests < first_to_fail) return 0;
  if (requests > first_to_fail && !all_that_follow) return 0;
  SetLastError(ERROR_NOT_ENOUGH_MEMORY);
  return 1;
}

static void *counted(void *block) {
  if (block != NULL) live++;
  return block;
}

/* This program's own imports are replaced, too, so these are the system's functions by address. */
static void *(WINAPI *real_alloc)(HANDLE, DWORD, SIZE_T);
static void *(WINAPI *real_realloc)(HANDLE, DWORD, void *, SIZE_T);
static BOOLEAN(WINAPI *real_free)(HANDLE, DWORD, void *);
static void *(WINAPI *real_virtual_alloc)(void *, SIZE_T, DWORD, DWORD);
static BOOL(WINAPI *real_virtual_free)(void *, SIZE_T, DWORD);
static HANDLE(WINAPI *real_create_thread)(SECURITY_ATTRIBUTES *, SIZE_T, LPTHREAD_START_ROUTINE, void *, DWORD,
                                          DWORD *);

static void *WINAPI our_alloc(HANDLE heap, DWORD flags, SIZE_T size) {
  return refused() ? NULL : counted(real_alloc(heap, flags, size));
}
static void *WINAPI our_realloc(HANDLE heap, DWORD flags, void *block, SIZE_T size) {
  return refused() ? NULL : real_realloc(heap, flags, block, size);
}
static BOOLEAN WINAPI our_free(HANDLE heap, DWORD flags, void *block) {
  if (block != NULL) {
    calls++;
    live--;
  }
  return real_free(heap, flags, block);
}
static void *WINAPI our_virtual_alloc(void *at, SIZE_T size, DWORD kind, DWORD access) {
  return refused() ? NULL : counted(real_virtual_alloc(at, size, kind, access));
}
static BOOL WINAPI our_virtual_free(void *at, SIZE_T size, DWORD kind) {
  calls++;
  if (kind == MEM_RELEASE) live--;
  return real_virtual_free(at, size, kind);
}
static HANDLE WINAPI our_create_thread(SECURITY_ATTRIBUTES *security, SIZE_T stack, LPTHREAD_START_ROUTINE start,
                                       void *argument, DWORD flags, DWORD *id) {
  return refused() ? NULL : real_create_thread(security, stack, start, argument, flags, id);
}

/* A function may have a name in several modules, which stand for the same code or for another way to it. */
static const struct {
  const char *module, *name;
  void *ours, *real;
} FUNCTIONS[] = {
    {"ntdll.dll", "RtlAllocateHeap", &our_alloc, &real_alloc},
    {"kernelbase.dll", "HeapAlloc", &our_alloc, &real_alloc},
    {"kernel32.dll", "HeapAlloc", &our_alloc, &real_alloc},
    {"ntdll.dll", "RtlReAllocateHeap", &our_realloc, &real_realloc},
    {"kernelbase.dll", "HeapReAlloc", &our_realloc, &real_realloc},
    {"kernel32.dll", "HeapReAlloc", &our_realloc, &real_realloc},
    {"ntdll.dll", "RtlFreeHeap", &our_free, &real_free},
    {"kernelbase.dll", "HeapFree", &our_free, &real_free},
    {"kernel32.dll", "HeapFree", &our_free, &real_free},
    {"kernelbase.dll", "VirtualAlloc", &our_virtual_alloc, &real_virtual_alloc},
    {"kernel32.dll", "VirtualAlloc", &our_virtual_alloc, &real_virtual_alloc},
    {"kernelbase.dll", "VirtualFree", &our_virtual_free, &real_virtual_free},
    {"kernel32.dll", "VirtualFree", &our_virtual_free, &real_virtual_free},
    {"kernelbase.dll", "CreateThread", &our_create_thread, &real_create_thread},
    {"kernel32.dll", "CreateThread", &our_create_thread, &real_create_thread},
};
enum { COUNT = sizeof FUNCTIONS / sizeof *FUNCTIONS };
static void *addresses[COUNT];

static void look_up(void) {
  if (addresses[COUNT - 1] != NULL) return;
  for (size_t i = 0; i < COUNT; i++) {
    FARPROC found = GetProcAddress(GetModuleHandleA(FUNCTIONS[i].module), FUNCTIONS[i].name);
    memcpy(&addresses[i], &found, sizeof found);
    /* The last name is the one that programs use. */
    memcpy(FUNCTIONS[i].real, &found, sizeof found);
  }
}

static void replace(void **entry) {
  for (size_t i = 0; i < COUNT; i++) {
    if (*entry != addresses[i] || addresses[i] == NULL) continue;
    DWORD before;
    VirtualProtect(entry, sizeof *entry, PAGE_READWRITE, &before);
    *entry = FUNCTIONS[i].ours;
    VirtualProtect(entry, sizeof *entry, before, &before);
    return;
  }
}

/* The tables of one module; none of it is touched that is not a table of imports. */
static void replace_in(char *module) {
  const IMAGE_DOS_HEADER *dos = (const void *)module;
  const IMAGE_NT_HEADERS *headers = (const void *)(module + dos->e_lfanew);
  IMAGE_DATA_DIRECTORY imports = headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
  if (imports.Size == 0) return;
  const IMAGE_IMPORT_DESCRIPTOR *from = (const void *)(module + imports.VirtualAddress);
  for (; from->Name != 0; from++) {
    for (void **entry = (void **)(void *)(module + from->FirstThunk); *entry != NULL; entry++) replace(entry);
  }
}

/* Not the system's own three modules: what they do among themselves is not a request of the library's. */
static int is_system(const char *module) {
  return module == (char *)GetModuleHandleA("ntdll.dll") || module == (char *)GetModuleHandleA("kernel32.dll") ||
         module == (char *)GetModuleHandleA("kernelbase.dll");
}

static void replace_everywhere(void) {
  look_up();
  LIST_ENTRY *all = &NtCurrentTeb()->ProcessEnvironmentBlock->Ldr->InMemoryOrderModuleList;
  for (LIST_ENTRY *one = all->Flink; one != all; one = one->Flink) {
    char *module = CONTAINING_RECORD(one, LDR_DATA_TABLE_ENTRY, InMemoryOrderLinks)->DllBase;
    if (!is_system(module)) replace_in(module);
  }
}

unsigned long count_malloc_calls(void) {
  replace_everywhere();
  return calls;
}

long fail_malloc_live(void) {
  replace_everywhere();
  return live;
}

unsigned long fail_malloc_requests(void) { return requests; }

void fail_malloc_at(unsigned long n, int follow) {
  replace_everywhere();
  requests = 0;
  first_to_fail = n;
  all_that_follow = follow;
  failing_thread = GetCurrentThreadId();
}

/* Memory of the process that is in use. */
long resident_kilobytes(void) {
  PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
  if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)) return 0;
  return (long)(counters.WorkingSetSize / 1024);
}
