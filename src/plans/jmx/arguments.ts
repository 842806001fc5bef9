import { decodeXml } from './xml.js'

/** The names and values in tables of arguments, such as those of User Defined Variables, in their order. */
export function readArguments(text: string): [name: string, value: string][] {
  return text
    .split('elementType="Argument">')
    .slice(1)
    .map((piece) => {
      const [content = ''] = piece.split('</elementProp>', 1)
      return [field(content, 'name'), field(content, 'value')]
    })
}

function field(content: string, name: string): string {
  return decodeXml(new RegExp(`"Argument\\.${name}">([^<]*)<`).exec(content)?.[1] ?? '')
}
