/** Remembers what was found, but not a failure: what was missing may have been installed since. */
export function findOnce<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined
  return () => {
    found ??= find().catch((thrown: unknown) => {
      found = undefined
      throw thrown
    })
    return found
  }
}
