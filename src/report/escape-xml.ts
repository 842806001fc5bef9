/** What XML 1.0 has no way to write, escaped or not: most control characters, halves of surrogate pairs, two non-characters. */
const ILLEGAL =
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const MARKUP = /[&<>"'\r\n\t]/g

/** Any text, for an attribute or as content. What cannot be written in XML is left out. */
export function escapeXml(text: string): string {
  return text.replace(ILLEGAL, '').replace(MARKUP, (sign) => `&#${sign.charCodeAt(0)};`)
}
