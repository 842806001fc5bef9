// The examples in README.md and docs/: every fenced block with a language.
//   --json               prints them, for the test that reads them as loadgate would
//   --workflows <folder> writes those that are workflows, or parts of one, as complete workflows next to action.yml, for
//                        actionlint, which then also checks the inputs of loadgate's own steps
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse, stringify } from 'yaml'

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
/** The folder of the action, and its version: the gate itself, or one of those for grids. */
const ACTION = /^loadgate\/loadgate(\/grid-(?:start|stop))?@.+$/

const { values } = parseArgs({ options: { json: { type: 'boolean' }, workflows: { type: 'string' } } })
const examples = await readExamples()
if (values.json) process.stdout.write(JSON.stringify(examples))
if (values.workflows !== undefined) await writeWorkflows(path.resolve(values.workflows))

async function readExamples() {
  const pages = (await readdir(path.join(ROOT, 'docs'))).filter((name) => name.endsWith('.md')).sort()
  const files = ['README.md', 'SECURITY.md', ...pages.map((name) => `docs/${name}`)]
  const lists = await Promise.all(
    files.map(async (file) => blocksOf(file, await readFile(path.join(ROOT, file), 'utf8')))
  )
  return lists.flat()
}

function blocksOf(file, markdown) {
  return [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(({ 1: language, 2: text, index }) => {
    const line = markdown.slice(0, index).split('\n').length
    return language === 'yaml'
      ? { file, line, language, text, ...readYaml(text) }
      : { file, line, language, text }
  })
}

/** The kind of block, judged by its keys, and for part of a workflow a complete one around it. */
function readYaml(text) {
  const value = parse(text)
  const job = { 'runs-on': 'ubuntu-latest' }
  const one = (gate) => ({ on: 'push', jobs: { gate: { ...job, ...gate } } })
  if (Array.isArray(value)) return { kind: 'steps', workflow: one({ steps: value }) }
  if (value.jobs) return { kind: 'workflow', workflow: { on: 'push', ...value } }
  if (value.steps) return { kind: 'job', workflow: one(value) }
  if (value.with)
    return { kind: 'step', workflow: one({ steps: [{ uses: 'loadgate/loadgate@main', ...value }] }) }
  if (value.concurrency) return { kind: 'top', workflow: { ...one({ steps: [{ run: 'true' }] }), ...value } }
  return { kind: 'config', value }
}

async function writeWorkflows(folder) {
  const target = path.join(folder, '.github/workflows')
  await rm(folder, { recursive: true, force: true })
  await mkdir(target, { recursive: true })
  await mkdir(path.join(folder, '.git')) // tells actionlint where local actions are
  for (const action of ['.', 'grid-start', 'grid-stop']) {
    await mkdir(path.join(folder, action), { recursive: true })
    await copyFile(path.join(ROOT, action, 'action.yml'), path.join(folder, action, 'action.yml'))
  }
  for (const entry of ['main', 'post', 'grid-start', 'grid-stop']) {
    await mkdir(path.join(folder, 'dist', entry), { recursive: true })
    await writeFile(path.join(folder, `dist/${entry}/index.js`), '')
  }
  for (const { file, line, workflow } of examples.filter((example) => example.workflow)) {
    const name = `${file.replace(/\W+/g, '-')}-line-${line}.yml`
    await writeFile(path.join(target, name), `# ${file}, line ${line}\n${stringify(asLocal(workflow))}`)
  }
}

/** actionlint can read the inputs of an action in this repository. */
function asLocal(workflow) {
  const jobs = Object.entries(workflow.jobs).map(([name, job]) => [
    name,
    {
      ...job,
      steps: job.steps.map((step) => {
        const [isOwn, action = '/'] = ACTION.exec(step.uses ?? '') ?? []
        return isOwn ? { ...step, uses: `.${action}` } : step
      })
    }
  ])
  return { ...workflow, jobs: Object.fromEntries(jobs) }
}
