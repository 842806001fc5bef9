import { formatElapsed } from '../format-elapsed.js'
import type { Sharing } from '../queue/queue.js'

const MS_PER_SECOND = 1000

/** For the warnings of a run: two runs on the same cores slow each other down. */
export function describeSharing(shared: readonly Sharing[]): string[] {
  return shared.map(({ runId, sharedMs }) => {
    const howLong = sharedMs < MS_PER_SECOND ? 'less than a second' : formatElapsed(sharedMs)
    return `this run shared the cores of this machine with run ${runId} for ${howLong}: its figures may be worse than those of a run alone`
  })
}
