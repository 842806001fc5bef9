// Reads a JSON list of diagrams from stdin and writes, for each version of Mermaid, what its parser says of each of them.
import { JSDOM } from 'jsdom'
import { text } from 'node:stream/consumers'

const { window } = new JSDOM('')
Object.assign(globalThis, { window, document: window.document })

const diagrams = JSON.parse(await text(process.stdin))
const said = {}
for (const name of ['mermaid-11.4', 'mermaid']) {
  const { default: mermaid } = await import(name)
  said[name] = []
  for (const diagram of diagrams) {
    // One after the other: the parser keeps what it has read in a place of its own.
    said[name].push(
      await mermaid.parse(diagram).then(
        ({ diagramType }) => diagramType,
        (error) => `refused: ${error.message}`
      )
    )
  }
}
process.stdout.write(JSON.stringify(said))
