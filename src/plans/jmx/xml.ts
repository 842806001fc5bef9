export function decodeXml(text: string): string {
  const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }
  return text.replace(
    /&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi,
    (whole, decimal: string, hex: string, name: string) => {
      if (name) return named[name] ?? whole
      const code = decimal ? Number(decimal) : parseInt(hex, 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    }
  )
}
