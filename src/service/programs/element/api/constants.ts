export const MouseButtons = { LEFT: 'left', RIGHT: 'right', MIDDLE: 'middle' }
export const BROWSER = { CHROME: 'chrome', CHROMIUM: 'chromium', FIREFOX: 'firefox', WEBKIT: 'webkit' }
export const ScrollDirection = { TOP: 'top', BOTTOM: 'bottom', LEFT: 'left', RIGHT: 'right' }

/** `Device.iPhone6Landscape` is the device `iPhone 6 landscape`: the names are looked up without case and spaces. */
export const Device: Readonly<Record<string, string>> = new Proxy(
  {},
  { get: (_, name) => (typeof name === 'string' ? name : undefined) }
)

/** Finds a device's description under the spelling that a script uses. */
export function findDevice<T>(devices: Readonly<Record<string, T>>, name: string): T {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9+]/g, '')
  const found = Object.entries(devices).find(([known]) => plain(known) === plain(name))
  if (found === undefined)
    throw new Error(`the device '${name}' is unknown: set viewport and userAgent instead`)
  return found[1]
}

/** Keys that are pressed rather than typed, by the names that scripts use. */
const KEYS: Readonly<Record<string, string>> = {
  ...{ ENTER: 'Enter', RETURN: 'Enter', TAB: 'Tab', ESCAPE: 'Escape', SPACE: 'Space', HELP: 'Help' },
  ...{ BACK_SPACE: 'Backspace', BACKSPACE: 'Backspace', DELETE: 'Delete', INSERT: 'Insert', CLEAR: 'Clear' },
  ...{ UP: 'ArrowUp', DOWN: 'ArrowDown', LEFT: 'ArrowLeft', RIGHT: 'ArrowRight' },
  ...{ ARROW_UP: 'ArrowUp', ARROW_DOWN: 'ArrowDown', ARROW_LEFT: 'ArrowLeft', ARROW_RIGHT: 'ArrowRight' },
  ...{ PAGE_UP: 'PageUp', PAGE_DOWN: 'PageDown', HOME: 'Home', END: 'End', PAUSE: 'Pause' },
  ...{ SHIFT: 'Shift', CONTROL: 'Control', ALT: 'Alt', META: 'Meta', COMMAND: 'Meta', CANCEL: 'Cancel' },
  ...Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`F${index + 1}`, `F${index + 1}`])),
  ...Object.fromEntries(
    Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index)).map((letter) => [
      `KEY_${letter.toUpperCase()}`,
      letter
    ])
  )
}

const PRESSED = new Set(Object.values(KEYS).filter((key) => key.length > 1))

export const Key: Readonly<Record<string, string>> = new Proxy(KEYS, {
  get(keys, name) {
    // A key that does not exist would silently be no key at all.
    if (typeof name === 'string' && !(name in keys) && name !== 'then')
      throw new Error(`Key.${name} is not supported; supported: ${Object.keys(keys).join(', ')}`)
    return keys[name as string]
  }
})

/** Whether a text given to `sendKeys` stands for a key. */
export function isKey(text: string): boolean {
  return PRESSED.has(text)
}

/** Members of other objects that libraries look for by themselves. */
const ASKED_BY_OTHERS = new Set(['then', 'toJSON'])

/** Each member that a script asked for and that does not exist, with its full name. */
const missing = new Map<string, string>()
let onMissing: (words: string) => void = () => undefined

/** The script uses something that this implementation does not have, which is not the target's fault. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError'
}

/** Says which members do not exist, when a script asks for them. */
export function watchMissing(say: (words: string) => void): void {
  onMissing = say
}

/** Remembers that a script asked for it, perhaps only to test whether it exists. */
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

/** Like the object, but remembers which missing members were requested. */
export function noticeMissing<T extends object>(object: T, owner: string): T {
  return new Proxy(object, {
    get: (target, member) => {
      if (!(member in target)) recordMissing(owner, member)
      return Reflect.get(target, member) as unknown
    }
  })
}
