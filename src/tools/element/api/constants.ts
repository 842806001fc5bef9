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
