import { Patience } from './patience.js'
import type { PatienceOptions } from './patience.js'

/** Tries again what may well succeed a little later, until patience or the signal ends it. For what may be done twice alone. */
export async function persist<T>(
  attempt: () => Promise<T>,
  { signal, ...options }: PatienceOptions & { readonly signal: AbortSignal | undefined }
): Promise<T> {
  const patience = new Patience(options)
  for (;;) {
    try {
      return await attempt()
    } catch (thrown) {
      if (signal?.aborted) throw thrown
      await options.clock.sleep(patience.bear(thrown), signal)
    }
  }
}
