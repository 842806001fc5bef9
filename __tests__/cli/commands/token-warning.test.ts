import { afterAll, expect, test } from '@jest/globals'
import { runCommandLine } from '../../../src/cli/commands.js'
import { createTeams } from '../../service/accounts/team.js'
import { createFolders, finishRun, runForm } from '../../service/support.js'
import { makeCommandPorts } from '../command-ports.js'

const teams = createTeams()
const folders = createFolders()
afterAll(async () => {
  await teams.closeAll()
  folders.remove()
})

test('whoever uses a token that ends soon reads it, once: in commands and in the gate', async () => {
  const team = await teams.start()
  const endsMs = Date.now() + 13 * 86_400_000
  const { token } = team.users.add('ada', 'member', endsMs)
  const service = { url: team.service.url, token }
  const { json } = await finishRun(service, runForm({ duration: '1' }))
  const words = `the token of ada ends on ${new Date(endsMs).toISOString().slice(0, 10)}; ask an admin to rotate it`
  const type = async (...args: string[]): Promise<string> => {
    const ports = makeCommandPorts({ workspace: folders.create(), token })
    await runCommandLine([...args, '--base-url', service.url], ports)
    return ports.screen.err.text + ports.screen.out.text
  }
  for (const args of [['runs'], ['run', '--run-id', json.uuid]])
    expect((await type(...args)).split(words)).toHaveLength(2)
})
