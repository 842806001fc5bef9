const MARKDOWN = /[&<>|[\]@#`*_~\\]|:(?=\/\/)|(?<=www)\./gi

/** Text of the service or the plan, made harmless in Markdown and its tables: no markup, mention, reference, link or line break. */
export function escapeMarkdown(text: string): string {
  return replaceControls(text).replace(MARKDOWN, (character) => `&#${character.charCodeAt(0)};`)
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
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

function replaceControls(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
}
