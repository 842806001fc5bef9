/**
 * The options that users give to the JVMs of tools: `HEAP`, which replaces a tool's own, and `JVM_ARGS`. A JVM takes its home from the
 * list of users rather than from `HOME`, and writes its preferences there: where the user has none, it is told.
 */
export function jvmOptions(
  { HEAP, JVM_ARGS = '' }: NodeJS.ProcessEnv,
  { heap, home }: { readonly heap: string; readonly home?: string | undefined }
): string[] {
  const given = `${HEAP ?? heap} ${JVM_ARGS}`.split(/\s+/).filter((part) => part !== '')
  return [...(home === undefined ? [] : [`-Duser.home=${home}`]), ...given]
}

const MB = 1024 ** 2
/** The rest is for what a JVM has outside of its heap: classes, compiled code, stacks, buffers of sockets. */
const HEAP_SHARE = 0.6

/** The size of a heap, as in `-Xmx`, for a JVM that has this memory for itself; 1 GB where nobody says. */
export function heapSize(memoryBytes: number | undefined): string {
  return memoryBytes === undefined ? '1g' : `${Math.max(1, Math.floor((memoryBytes * HEAP_SHARE) / MB))}m`
}
