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
