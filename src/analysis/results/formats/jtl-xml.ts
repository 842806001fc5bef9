import { StringDecoder } from 'node:string_decoder'
import { SaxesParser } from 'saxes'
import { JMETER_HEADER } from '../../../contract/sample-row.js'
import { BadRows, quoteField, type Translation, type TranslationFacts } from './translation.js'

/** A tag or text without an end. */
const MAX_PIECE_BYTES = 1 << 24
const SAMPLES = new Set(['sample', 'httpSample'])
/** The attributes of a sample, in the order of the CSV's columns; what the XML does not have is empty. */
const ATTRIBUTES = ['ts', 't', 'lb', 'rc', 'rm', 'tn', 'dt', 's'] as const
const MORE_ATTRIBUTES = ['by', 'sby', 'ng', 'na'] as const
const LAST_ATTRIBUTES = ['lt', 'it', 'ct'] as const

/** More samples within one are not JMeter's, and would all be kept in memory. */
const MOST_INSIDE = 100_000

type Text = 'failureMessage' | 'java.net.URL'

/** A sample that has not ended yet. */
interface OpenSample {
  /** Where its row belongs, before those of the samples within it. */
  readonly place: number
  readonly attributes: Readonly<Record<string, string>>
  /** The first of each. */
  readonly texts: Partial<Record<Text, string>>
}

/** Reads JMeter's results in XML. As in its CSV, a sample has a row, and those within it follow. */
export class JtlXml implements Translation {
  readonly header = JMETER_HEADER
  readonly #bad = new BadRows()
  readonly #decoder = new StringDecoder('utf8')
  readonly #parser = new SaxesParser()
  #rows = ''
  #number = 0
  /** The outermost one first. */
  readonly #open: OpenSample[] = []
  /** The rows of the outermost sample and of those within it. */
  #pending: string[] = []
  /** Where text goes, if it is of use. */
  #text: Text | undefined
  #isBroken = false
  /** Since the parser has last found anything. */
  #unreadBytes = 0

  constructor() {
    const parser = this.#parser
    parser.on('opentag', ({ name, attributes }) => this.#begin(name, attributes))
    parser.on('text', (text) => this.#add(text))
    parser.on('cdata', (text) => this.#add(text))
    parser.on('closetag', ({ name }) => this.#end(name))
    parser.on('error', ({ message }) => this.#break(`it is not complete XML: ${message}`))
  }

  push(chunk: Uint8Array): string {
    if (this.#isBroken) return ''
    this.#unreadBytes += chunk.length
    this.#parser.write(this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)))
    if (this.#unreadBytes > MAX_PIECE_BYTES) this.#break('a part of it has no end within 16 MiB')
    return this.#flush()
  }

  end(): string {
    if (!this.#isBroken) this.#parser.close()
    return this.#flush()
  }

  get facts(): TranslationFacts {
    return { problems: this.#bad.problems, losses: [], notes: [] }
  }

  #flush(): string {
    const rows = this.#rows
    this.#rows = ''
    return rows
  }

  #begin(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#unreadBytes = 0
    this.#text = undefined
    if (SAMPLES.has(name)) {
      this.#open.push({ place: this.#pending.length, attributes, texts: {} })
      this.#pending.push('')
      if (this.#pending.length > MOST_INSIDE) this.#break(`it has more than ${MOST_INSIDE} samples within it`)
      return
    }
    const { texts } = this.#open.at(-1) ?? {}
    if (name !== 'failureMessage' && name !== 'java.net.URL') return
    if (texts === undefined || texts[name] !== undefined) return
    texts[name] = ''
    this.#text = name
  }

  #add(text: string): void {
    this.#unreadBytes = 0
    const { texts } = this.#open.at(-1) ?? {}
    if (this.#text !== undefined && texts !== undefined) texts[this.#text] = (texts[this.#text] ?? '') + text
  }

  #end(name: string): void {
    this.#unreadBytes = 0
    this.#text = undefined
    const sample = SAMPLES.has(name) ? this.#open.pop() : undefined
    if (sample === undefined || this.#isBroken) return
    this.#number++
    // From a listener that counts several samples as one.
    const { sc = '1' } = sample.attributes
    if (sc !== '1') this.#bad.add(this.#number, `it stands for ${sc} samples, not for one`)
    this.#pending[sample.place] = formatSample(sample)
    if (this.#open.length > 0) return
    this.#rows += this.#pending.join('')
    this.#pending = []
  }

  #break(words: string): void {
    if (this.#isBroken) return
    this.#isBroken = true
    this.#pending = []
    this.#bad.add(this.#number + 1, words)
  }
}

function formatSample({ attributes, texts }: OpenSample): string {
  const fields = (names: readonly string[]): string[] =>
    names.map((each) => quoteField(attributes[each] ?? ''))
  const failure = quoteField((texts.failureMessage ?? '').trim())
  const url = quoteField(texts['java.net.URL'] ?? '')
  return `${[...fields(ATTRIBUTES), failure, ...fields(MORE_ATTRIBUTES), url, ...fields(LAST_ATTRIBUTES)].join(',')}\n`
}
