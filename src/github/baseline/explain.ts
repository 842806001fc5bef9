import { messageOf } from '../../gate/errors.js'
import { TRANSIENT } from '../comment-failure.js'
import { CallError } from './calls.js'

const PERMISSIONS =
  'add "permissions: { actions: read, contents: read }" to the job, beside the permissions that it has'

/** Why the recorded runs could not be read, in GitHub's words, and what to do about it. */
export function explain(thrown: unknown): string {
  if (!(thrown instanceof CallError)) return plain(messageOf(thrown))
  const { action, failure } = thrown
  const { kind, status, waitMs } = failure
  const words = `${status === undefined ? '' : `${status}: `}${plain(failure.words)}`
  const said = `the gate could not ${action} (${words})`
  switch (kind) {
    case 'rate-limit': {
      const wait = waitMs === undefined ? '' : `, and GitHub asks to wait ${Math.ceil(waitMs / 1000)} s`
      return `${said}: the rate limit of this token is used up${wait}; run the job again later, or give it its own github-token`
    }
    case 'token':
      return `${said}: the github-token is not valid`
    case 'refused':
      return `${said}; ${PERMISSIONS}`
    case 'network':
      return `${said}: GitHub could not be reached; run the job again`
    case 'server':
    case 'odd-reply':
      return `${said}: GitHub itself failed; see githubstatus.com, and run the job again`
    case 'locked':
    case 'archived':
    case 'other':
      return said
  }
}

/** Whether GitHub may answer the next time, without anything being changed. */
export function isOutage(thrown: unknown): boolean {
  return thrown instanceof CallError && TRANSIENT.includes(thrown.failure.kind)
}

/** What others wrote, on one line and without control characters. */
export function plain(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').slice(0, 300)
}
