/** Where a text stops being XML, and why. */
export interface XmlError {
  /** From 1. */
  readonly line: number
  readonly reason: string
}

const NAMED = new Set(['lt', 'gt', 'amp', 'quot', 'apos'])
const ENTITY = /&(?:#\d+|#x[\da-f]+|([a-z_:][\w.:-]*));/iy
const NAME = /[^\s/<>="'&]+/y
const ATTRIBUTE = /\s+([^\s/<>="'&]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y
const TAG_END = /\s*(\/?)>/y
const END_TAG = /<\/([^\s/<>="'&]+)\s*>/y

/**
 * The first reason why JMeter's parser refuses the text, which accepts more than XML allows; undefined if there is none. A text with a document type is not judged: it may define
 * entities.
 */
export function findXmlError(text: string): XmlError | undefined {
  return new XmlReader(text).findError()
}

class XmlReader {
  readonly #text: string
  readonly #open: { name: string; at: number }[] = []
  #at = 0
  #hasRoot = false

  constructor(text: string) {
    this.#text = text
  }

  findError(): XmlError | undefined {
    const text = this.#text
    if (text.startsWith('\ufeff')) this.#at = 1
    while (this.#at < text.length) {
      const found = text.indexOf('<', this.#at)
      const tag = found < 0 ? text.length : found
      const error = this.#checkText(this.#at, tag)
      if (error !== undefined) return error
      this.#at = tag
      if (found < 0) break
      if (text.startsWith('<!DOCTYPE', tag)) return undefined
      const problem = this.#readMarkup()
      if (problem !== undefined) return problem
      // JMeter reads no further than the end of the first element.
      if (this.#hasRoot && this.#open.length === 0) return undefined
    }
    const last = this.#open.at(-1)
    if (last !== undefined)
      return this.#errorAt(last.at, `<${last.name}> is never closed; the file may be cut off`)
    return this.#hasRoot ? undefined : this.#errorAt(0, 'there is no element in it')
  }

  #readMarkup(): XmlError | undefined {
    const text = this.#text
    const at = this.#at
    if (text.startsWith('<!--', at)) return this.#skipTo('-->', 4, 'the comment')
    if (text.startsWith('<![CDATA[', at)) return this.#skipTo(']]>', 9, 'the CDATA section')
    if (text.startsWith('<?', at)) return this.#skipTo('?>', 2, 'the processing instruction')
    return text.startsWith('</', at) ? this.#readEndTag() : this.#readStartTag()
  }

  #skipTo(end: string, from: number, what: string): XmlError | undefined {
    const found = this.#text.indexOf(end, this.#at + from)
    if (found < 0) return this.#errorAt(this.#at, `${what} is never closed with ${end}`)
    this.#at = found + end.length
    return undefined
  }

  #readEndTag(): XmlError | undefined {
    const at = this.#at
    const name = this.#match(END_TAG)?.[1]
    if (name === undefined) return this.#errorAt(at, 'the closing tag is incomplete')
    const open = this.#open.pop()
    if (open === undefined) return this.#errorAt(at, `</${name}> closes nothing`)
    return open.name === name
      ? undefined
      : this.#errorAt(
          at,
          `</${name}> is where </${open.name}> should be, for <${open.name}> of line ${this.#lineOf(open.at)}`
        )
  }

  #readStartTag(): XmlError | undefined {
    const at = this.#at
    this.#at = at + 1
    const name = this.#match(NAME)?.[0]
    if (name === undefined)
      return this.#errorAt(at, 'there is a "<" that starts no tag; write &lt; for the sign itself')
    const seen = new Set<string>()
    for (;;) {
      const from = this.#at
      const attribute = this.#match(ATTRIBUTE)
      if (attribute === undefined) break
      const [, key = ''] = attribute
      if (seen.has(key)) return this.#errorAt(from, `<${name}> has the attribute ${key} twice`)
      seen.add(key)
      const error = this.#checkText(from, this.#at, true)
      if (error !== undefined) return error
    }
    const end = this.#match(TAG_END)
    if (end === undefined) return this.#errorAt(this.#at, `the tag <${name}> is not written correctly`)
    this.#hasRoot = true
    if (end[1] !== '/') this.#open.push({ name, at })
    return undefined
  }

  #checkText(from: number, to: number, isAttribute = false): XmlError | undefined {
    const text = this.#text
    if (this.#open.length === 0 && !isAttribute) {
      const stray = text.slice(from, to).search(/\S/)
      return stray < 0 ? undefined : this.#errorAt(from + stray, 'there is text before the first element')
    }
    // Within the piece only: a search to the end of the text for each tag would take minutes.
    const piece = text.slice(from, to)
    for (let at = piece.indexOf('&'); at >= 0; at = piece.indexOf('&', at + 1)) {
      ENTITY.lastIndex = at
      const entity = ENTITY.exec(piece)
      if (entity === null)
        return this.#errorAt(from + at, 'there is a "&" that stands for itself; write &amp;')
      const [whole, name] = entity
      if (name !== undefined && !NAMED.has(name))
        return this.#errorAt(from + at, `${whole} is unknown in XML`)
    }
    return undefined
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match !== null) this.#at = pattern.lastIndex
    return match ?? undefined
  }

  #errorAt(at: number, reason: string): XmlError {
    return { line: this.#lineOf(at), reason }
  }

  #lineOf(at: number): number {
    return this.#text.slice(0, at).split('\n').length
  }
}
