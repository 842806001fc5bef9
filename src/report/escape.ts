const MARKDOWN = /[&<>|[\]@#`*_~$\\]|:(?=\/\/)|(?<=www)\./gi
/** What would begin a list, a rule or an underlined heading. */
const BLOCK_START = /^[-+=]|(?<=^\d{1,9})[.)](?=\s|$)/
/** Mentions and references are looked for after entities have been resolved; only something in between keeps them apart. */
const ZERO_WIDTH_SPACE = '&#8203;'

/** Text of the service or the plan, made harmless in Markdown and its tables: no markup, mention, reference, link or line break. */
export function escapeMarkdown(text: string): string {
  return replaceControls(text)
    .trim()
    .replace(MARKDOWN, (character) => entityOf(character) + (/[@#]/.test(character) ? ZERO_WIDTH_SPACE : ''))
    .replace(BLOCK_START, entityOf)
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, entityOf)
}

/** Only https leads out of a report; undefined for everything else. */
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

function replaceControls(text: string): string {
  // Those that break lines, steer terminals, or turn the direction in which text is read.
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g, ' ')
}
