/** The options that users give to the JVMs of tools: `HEAP`, which replaces a tool's own, and `JVM_ARGS`. */
export function jvmOptions({ HEAP, JVM_ARGS = '' }: NodeJS.ProcessEnv, defaultHeap: string): string[] {
  return `${HEAP ?? defaultHeap} ${JVM_ARGS}`.split(/\s+/).filter((part) => part !== '')
}
