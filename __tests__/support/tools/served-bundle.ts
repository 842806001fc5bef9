import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, startCommand } from '../../e2e/cli-command.js'
import { type Address, get, type Reply } from '../../service/support.js'
import { removeFolder } from '../remove-folder.js'

/** The committed bundle of the service as a process. */
export interface ServedBundle extends Address {
  readonly command: Command
  readonly dataDir: string
  stop(): Promise<void>
}

const TOKEN = 'a-token-of-the-tests'

export async function serveBundle(env: Record<string, string> = {}): Promise<ServedBundle> {
  const folder = mkdtempSync(join(tmpdir(), 'loadgate-tools-'))
  const command = startCommand(['serve', '--data', 'data'], {
    cwd: folder,
    env: { LOADGATE_TOKEN: TOKEN, ...env }
  })
  const [, url = ''] = await command.shows(/^Address: (http:\/\/127\.0\.0\.1:\d+)\n/m)
  return {
    command,
    url,
    token: TOKEN,
    dataDir: join(folder, 'data'),
    stop: async () => {
      command.child.kill('SIGTERM')
      await command.ended
      removeFolder(folder)
    }
  }
}

/** The rows of all results of a run, as objects by column. None of the tests' labels has a comma or quotes. */
export async function readRows(service: Address, run: Reply): Promise<Record<string, string>[]> {
  const csvs = await Promise.all(
    run.json._embedded.results.map(({ href }) => {
      const { pathname, search } = new URL(href)
      return get(service, pathname + search)
    })
  )
  return csvs.flatMap(({ text }) => {
    const [header = '', ...rows] = text.trimEnd().split('\n')
    const columns = header.split(',')
    return rows.map((row) => {
      const fields = row.split(',')
      return Object.fromEntries(columns.map((column, index) => [column, fields[index] ?? '']))
    })
  })
}

/** The logs of a run's nodes. */
export function logsOf(service: ServedBundle, id: string): string[] {
  const folder = join(service.dataDir, 'runs', id, 'logs')
  return readdirSync(folder).map((name) => join(folder, name))
}
