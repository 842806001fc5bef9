/** The data of server-sent events, read by the rules of the HTML standard. */
export function parseEvents(text: string): string[] {
  const events: string[] = []
  let data: string[] = []
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    if (line === '') {
      if (data.length > 0) events.push(data.join('\n'))
      data = []
      continue
    }
    const [, field, value = ''] = /^([^:]*)(?::\x20?(.*))?$/s.exec(line) ?? []
    if (field === 'data') data.push(value)
  }
  return events
}
