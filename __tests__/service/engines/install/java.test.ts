import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { requireJava, requireJdk } from '../../../../src/service/engines/install/java.js'
import { packageFile } from '../../../../src/service/engines/install/run-to-end.js'
import { Processes } from '../../../../src/service/nodes/machine/processes.js'
import { writeScript } from '../../stand-in.js'
import { createFolders } from '../../support.js'

const folders = createFolders()
afterAll(() => folders.remove())

let tools: string
beforeEach(() => {
  tools = folders.create()
})

const portsWith = (env: NodeJS.ProcessEnv): Parameters<typeof requireJava>[0] => ({
  env: { PATH: tools, ...env },
  processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
  log: () => undefined,
  signal: new AbortController().signal
})
const write = (folder: string, name: string, lines: readonly string[] = []): string =>
  writeScript(join(folder, name), lines)

describe('Java', () => {
  test('is found on the PATH', async () => {
    expect(await requireJava(portsWith({}), 'Gatling').catch(String)).toMatch(
      /Gatling needs Java, and there is no java on the PATH: install a JDK.*apt-get install.*brew install.*setup-java/
    )
    const java = write(tools, 'java')
    expect(await requireJava(portsWith({}), 'Gatling')).toBe(java)
  })

  test('JAVA_HOME comes first, and there is no other one if it is wrong', async () => {
    write(tools, 'java')
    const home = folders.create()
    expect(await requireJava(portsWith({ JAVA_HOME: home }), 'Gatling').catch(String)).toMatch(
      /Gatling needs Java, and JAVA_HOME is \/.*, where there is no bin\/java: correct JAVA_HOME, or unset it.*install a JDK.*apt-get install/
    )
    const java = write(join(home, 'bin'), 'java')
    expect(await requireJava(portsWith({ JAVA_HOME: home }), 'Gatling')).toBe(java)
  })
})

describe('a JDK', () => {
  test('is a Java with a compiler', async () => {
    const [java, javac] = [write(tools, 'java'), write(tools, 'javac')]
    expect(await requireJdk(portsWith({}), 'Gatling')).toEqual({ java, javac })
  })

  test('in JAVA_HOME is the one', async () => {
    const home = folders.create()
    const [java, javac] = [write(join(home, 'bin'), 'java'), write(join(home, 'bin'), 'javac')]
    expect(await requireJdk(portsWith({ JAVA_HOME: home }), 'Gatling')).toEqual({ java, javac })
  })

  test('has the compiler of the same installation, whatever else is on the PATH', async () => {
    const home = folders.create()
    const javac = write(home, 'javac')
    symlinkSync(write(home, 'java'), join(tools, 'java'))
    write(tools, 'javac')
    expect(await requireJdk(portsWith({}), 'Gatling')).toEqual({ java: join(tools, 'java'), javac })
  })

  test.each([
    {
      name: 'a JRE only',
      lines: undefined,
      message:
        /Gatling needs a JDK to compile the plan, and next to .*java there is no javac \(a JRE only\?\): install a JDK/
    },
    {
      name: 'a stub',
      lines: ['echo "No Java runtime present" >&2', 'exit 1'],
      message:
        /Gatling needs a JDK to compile the plan, and .*javac does not run \(No Java runtime present\): install/
    }
  ])('is not $name', async ({ lines, message }) => {
    write(tools, 'java')
    if (lines !== undefined) write(tools, 'javac', lines)
    await expect(requireJdk(portsWith({}), 'Gatling')).rejects.toThrow(message)
  })

  test('is not a JAVA_HOME without a compiler, though there is one on the PATH', async () => {
    const home = folders.create()
    mkdirSync(join(home, 'bin'))
    write(join(home, 'bin'), 'java')
    write(tools, 'javac')
    await expect(requireJdk(portsWith({ JAVA_HOME: home }), 'Gatling')).rejects.toThrow(/a JRE only\?/)
  })
})

test('files of this package are found from anywhere in it', () => {
  expect(existsSync(packageFile('java/jars/fetch.jar'))).toBe(true)
  expect(existsSync(packageFile('action.yml'))).toBe(true)
})
