import { shorten } from '../contract/text.js'

const MARKDOWN = /[&<>|[\]@#`*_~$\\]|:(?=\/\/)|(?<=www)\./gi
/** What would start a list, a rule or an underlined heading. */
const BLOCK_START = /^[-+=]|(?<=^\d{1,9})[.)](?=\s|$)/
/** A reference such as GH-26, up to its number. */
const NUMBERED_REFERENCE = /\bGH(?:SA)?-(?=[0-9a-z])/gi
/** What may be a commit, full or abbreviated. UUIDs are none. */
const COMMIT_OR_UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=\d*[a-f])[0-9a-f]{7,64}\b/gi
/** GitHub looks for mentions and references after resolving entities; only a separator keeps them apart. */
const ZERO_WIDTH_SPACE = '&#8203;'

/** Text from the service or the plan, made harmless in Markdown and its tables: no markup, mention, reference, link or line break. */
export function escapeMarkdown(text: string): string {
  return (
    replaceControls(text)
      .trim()
      .replace(
        MARKDOWN,
        (character) => entityOf(character) + (/[@#]/.test(character) ? ZERO_WIDTH_SPACE : '')
      )
      .replace(NUMBERED_REFERENCE, `$&${ZERO_WIDTH_SPACE}`)
      // GitHub links no commit in code, and it can be copied.
      .replace(COMMIT_OR_UUID, (id) => (id.includes('-') ? id : `<code>${id}</code>`))
      .replace(BLOCK_START, entityOf)
  )
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, entityOf)
}

/** A report only links to https; undefined for everything else. */
export function safeLink(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined
  const url = new URL(address)
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined
  return url.href.replace(
    /[()<>[\]|`'"\\]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )
}

function entityOf(character: string): string {
  return `&#${character.charCodeAt(0)};`
}

/** Text on one line that cannot control a terminal or turn the direction of what follows. */
export function replaceControls(text: string): string {
  // Those that break lines, control terminals, or change the text direction.
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g, ' ')
}

const encoder = new TextEncoder()

export function bytesOf(text: string): number {
  return encoder.encode(text).length
}

/** The longest prefix of the text that fits, never half a character. */
export function cutToBytes(text: string, mostBytes: number): string {
  // A unit of UTF-16 is at most three bytes of UTF-8: nothing long is encoded only to be measured.
  if (text.length * 3 <= mostBytes) return text
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, mostBytes)))
  return text.slice(0, read)
}

/** The same, marked where something is missing. */
export function cutText(text: string, mostBytes: number): string {
  const kept = cutToBytes(text, mostBytes)
  return kept.length < text.length ? `${kept}…` : kept
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  const value = bytes / 1000 ** power
  return `${value.toFixed(power > 0 && value < 10 ? 1 : 0)} ${units[power]}`
}

const COMMIT = /^[0-9a-f]{7,64}$/i
const SHORT_COMMIT = 7
const MOST_COMMIT = 40

/** As people know it; anything that is not a commit is only shortened. */
export function shortenCommit(commit: string): string {
  if (COMMIT.test(commit)) return commit.slice(0, SHORT_COMMIT)
  return shorten(replaceControls(commit), MOST_COMMIT)
}
