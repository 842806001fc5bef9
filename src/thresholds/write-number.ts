/** To create one takes longer than to use it a hundred times. */
const formats = new Map<number, Intl.NumberFormat>()

/** `1,240.5`: with at most so many decimals. */
export function writeNumber(value: number, digits: number): string {
  const format = formats.get(digits) ?? new Intl.NumberFormat('en-US', { maximumFractionDigits: digits })
  formats.set(digits, format)
  return format.format(value)
}
