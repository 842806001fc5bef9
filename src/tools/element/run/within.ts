/** Waits this long at most. */
export async function within<T>(
  promise: Promise<T>,
  ms: number,
  explain: (limit: string) => string
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(explain(`${ms / 1000} s`))), ms)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Some calls to a browser have no time limit of their own, and a browser under load may never answer. */
export function unanswered(what: string): (limit: string) => string {
  return (limit) => `the browser did not answer within ${limit}: ${what}`
}
