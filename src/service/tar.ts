// Archives in the oldest format, which every tar reads: names are short and plain, since they are ours.

export const BLOCK_BYTES = 512
const LARGEST_FILE_BYTES = 8 ** 11 - 1

export function tarHeader(name: string, sizeBytes: number, changedMs = 0): Buffer {
  if (sizeBytes > LARGEST_FILE_BYTES)
    throw new Error(`A file of ${sizeBytes} bytes is too large to be copied.`)
  const octal = (value: number): string => `${Math.trunc(value).toString(8).padStart(11, '0')}\0`
  const block = Buffer.alloc(BLOCK_BYTES)
  block.write(name, 0, 'latin1')
  block.write('0000600\0', 100, 'latin1')
  block.write('0000000\0', 108, 'latin1')
  block.write('0000000\0', 116, 'latin1')
  block.write(octal(sizeBytes), 124, 'latin1')
  block.write(octal(changedMs / 1000), 136, 'latin1')
  block.write('        0', 148, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

/** What follows a file of this size: files start at whole blocks. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES)
}

export const TAR_END = Buffer.alloc(2 * BLOCK_BYTES)
