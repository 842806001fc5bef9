/** Which bytes a part contains, and of how many; both ends are inclusive. */
export interface ContentRange {
  readonly fromByte: number
  readonly toByte: number
  /** Undefined if the service does not say. */
  readonly total: number | undefined
}

const CONTENT_RANGE = /^bytes (\d+)-(\d+)\/(\d+|\*)$/

/** Reads the header of a `206`; undefined if it makes no sense. */
export function readContentRange(text: string | undefined): ContentRange | undefined {
  const [, from, to, size] = CONTENT_RANGE.exec(text?.trim() ?? '') ?? []
  const [fromByte, toByte] = [Number(from), Number(to)]
  const total = size === '*' ? undefined : Number(size)
  if (from === undefined || toByte < fromByte || (total !== undefined && toByte >= total)) return undefined
  return { fromByte, toByte, total }
}
