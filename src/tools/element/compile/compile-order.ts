/** What a script is compiled from and into. */
export interface CompileOrder {
  readonly mode: 'compile'
  /** Where it writes what is meant for whoever started this process. */
  readonly messagesFile: string
  readonly script: string
  readonly outFile: string
  /** The folder whose node_modules has the compiler. */
  readonly modules: string
  /** Other names of the API's package, such as `@acme/element`. */
  readonly packageNames: readonly string[]
}
