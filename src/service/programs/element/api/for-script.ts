import { Browser, TargetLocator } from './browser.js'
import { currentCalls } from './calls.js'
import { ElementHandle, Mouse } from './element-handle.js'
import { recordMissing } from './constants.js'

type Method = (...all: unknown[]) => unknown

/** What is called from scripts, under the names that messages use. */
const WATCHED = new Map<unknown, string>([
  [Browser, 'browser'],
  [ElementHandle, 'element'],
  [Mouse, 'browser.mouse'],
  [TargetLocator, 'browser.switchTo()']
])
const originals = new WeakMap<object, object>()

/** The object as a script gets it: its calls are counted, and so are those of what it returns. */
export function forScript<T extends object>(original: T): T {
  const owner = WATCHED.get(original.constructor) ?? ''
  const watched = new Proxy(original, {
    get: (target, member) => {
      if (!(member in target)) recordMissing(owner, member)
      const value = Reflect.get(target, member, target) as unknown
      if (typeof value !== 'function' || member === 'constructor') return watch(value)
      return (...all: unknown[]) => {
        const call = (): unknown => watch((value as Method).apply(target, all.map(unwatch)))
        const calls = currentCalls()
        return calls === undefined ? call() : calls.track(call)
      }
    },
    set: (target, member, value) => Reflect.set(target, member, value, target)
  })
  originals.set(watched, original)
  return watched
}

function watch(value: unknown): unknown {
  if (value instanceof Promise) return value.then(watch)
  if (Array.isArray(value)) return value.map(watch)
  if (typeof value !== 'object' || value === null || originals.has(value)) return value
  return WATCHED.has(value.constructor) ? forScript(value) : value
}

/** Within a call, further calls are part of it. */
function unwatch(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? (originals.get(value) ?? value) : value
}
