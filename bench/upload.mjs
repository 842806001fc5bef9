// Peak memory of the committed main while it uploads a big data file, compared with a bare node and with the obvious way to
// upload (fetch with FormData and openAsBlob). Memory is the kernel's own high-water mark, so this needs Linux.
import { readFileSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { reportFigure } from './figure.mjs'
import { MAIN, makeWorkspace, startNode, stepEnvironment } from './step.mjs'

const FILE_MB = Number(process.env.LOADGATE_BENCH_UPLOAD_MB ?? 800)
const GOAL_MB = 250
const MB = 1024 * 1024
const OBVIOUS_UPLOAD = `
  import { openAsBlob } from 'node:fs'
  const form = new FormData()
  form.set('run_files[]', await openAsBlob('data.csv'), 'data.csv')
  await fetch(process.env['INPUT_BASE-URL'] + '/runs', { method: 'POST', body: form })`

if (process.platform !== 'linux') {
  console.log('## Upload\n\nNot measured: peak memory is read from /proc, which only Linux has.\n')
} else {
  const workspace = await makeWorkspace()
  try {
    const data = path.join(workspace.workspace, 'data.csv')
    await writeFile(data, '')
    await truncate(data, FILE_MB * MB) // sparse: takes no disk space
    print([
      { name: 'bare node', ...(await measureBare()) },
      { name: 'loadgate, `dist/main`', ...(await measureUpload([MAIN], workspace)) },
      {
        name: '`fetch`, `FormData`, `openAsBlob`',
        ...(await measureUpload(['--input-type=module', '-e', OBVIOUS_UPLOAD], workspace))
      }
    ])
  } finally {
    await workspace.remove()
  }
}

async function measureBare() {
  const { child, ended } = startNode(['-e', 'setTimeout(() => {}, 400)'])
  await setTimeout(200)
  const peakMb = peakOf(child.pid)
  await ended
  return { peakMb }
}

/** The server reads the whole body, checks the sender's memory, and rejects the request: that ends the step. */
async function measureUpload(args, workspace) {
  let result
  let subject
  const server = createServer((request, reply) => {
    let bytes = 0
    const start = performance.now()
    request.on('data', (chunk) => (bytes += chunk.length))
    request.on('end', () => {
      const seconds = (performance.now() - start) / 1000
      if (bytes >= FILE_MB * MB)
        result = { peakMb: peakOf(subject.child.pid), mbPerSecond: bytes / MB / seconds }
      reply.writeHead(422, { 'content-type': 'application/json' }).end('{"error":"only a bench"}')
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const inputs = { 'base-url': `http://127.0.0.1:${server.address().port}`, files: 'plan.jmx\ndata.csv' }
  subject = startNode(args, { cwd: workspace.workspace, env: stepEnvironment(workspace, inputs) })
  const { text } = await subject.ended
  server.close()
  if (!result) throw new Error(`The upload did not arrive completely:\n${text}`)
  return result
}

function peakOf(pid) {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(kilobytes) / 1024
}

function print(subjects) {
  const [, gate, peer] = subjects
  console.log(`## Upload\n`)
  console.log(`Peak memory while uploading a data file of ${FILE_MB} MB, Node ${process.version}.\n`)
  console.log('| | peak memory | ratio to loadgate | speed |')
  console.log('|---|---:|---:|---:|')
  for (const { name, peakMb, mbPerSecond } of subjects) {
    const speed = mbPerSecond ? `${mbPerSecond.toFixed(0)} MB/s` : ''
    console.log(`| ${name} | ${peakMb.toFixed(0)} MB | ${(peakMb / gate.peakMb).toFixed(2)} | ${speed} |`)
  }
  const name = `peak memory while ${FILE_MB} MB are uploaded`
  reportFigure({ name, value: gate.peakMb, unit: 'MB', atMost: GOAL_MB })
  console.log(`The obvious way takes ${(peer.peakMb / gate.peakMb).toFixed(1)} times as much.\n`)
}
