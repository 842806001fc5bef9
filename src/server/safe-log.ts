/**
 * For what tools and plans say: line by line, since each line must be escaped, and without the characters that would move the cursor
 * of a terminal or change its colours. They become spaces: what was redacted on both sides of one must not become a whole again.
 */
export function safeLog(log: (line: string) => void): (text: string) => void {
  return (text) => {
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    const plain = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, ' ')
    for (const line of plain.split(/[\r\n]+/)) if (line !== '') log(line)
  }
}
