/** Members of other objects that libraries look for by themselves. */
const ASKED_BY_OTHERS = new Set(['then', 'toJSON'])

/** Each member that a script asked for and that does not exist, with its full name. */
const missing = new Map<string, string>()
let onMissing: (words: string) => void = () => undefined

/** The script uses something that this implementation does not have: no matter of the target. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError'
}

/** Says which members do not exist, when a script asks for them. */
export function watchMissing(say: (words: string) => void): void {
  onMissing = say
}

/** Remembers that a script asked for it; it may just have been a test whether it exists. */
export function recordMissing(owner: string, member: string | symbol): void {
  if (typeof member === 'symbol' || ASKED_BY_OTHERS.has(member) || missing.has(member)) return
  missing.set(member, `${owner}.${member}`)
  onMissing(`${owner}.${member} is not supported`)
}

/** The error in words that name the member, if it comes from a call of one that does not exist. */
export function explainMissing(error: Error): UnsupportedError | undefined {
  if (!(error instanceof TypeError)) return undefined
  const [, called = ''] = /([\w$]+) is not a (?:function|constructor)/.exec(error.message) ?? []
  const name = missing.get(called)
  if (name === undefined) return undefined
  const explained = new UnsupportedError(`${name} is not supported`, { cause: error })
  // The place in the script.
  if (error.stack !== undefined) explained.stack = error.stack
  return explained
}

/** Like the object, but remembers which members were asked for in vain. */
export function noticeMissing<T extends object>(object: T, owner: string): T {
  return new Proxy(object, {
    get: (target, member) => {
      if (!(member in target)) recordMissing(owner, member)
      return Reflect.get(target, member) as unknown
    }
  })
}
