import { afterAll, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { removeFolder } from '../support/remove-folder.js'

const JAR = resolve('java/jars/hosts.jar')
const HOMES = '/usr/lib/jvm'
const folder = mkdtempSync(join(tmpdir(), 'loadgate-hosts-'))
afterAll(() => removeFolder(folder))

/** The one on the path, and every JDK of the machine: name lookups changed with Java 18. */
const installed = existsSync(HOMES) ? readdirSync(HOMES).map((name) => join(HOMES, name, 'bin', 'javac')) : []
const javas = ['java', ...installed.filter(existsSync).map((javac) => javac.slice(0, -1))].filter(
  (java) => spawnSync(java, ['-version']).status === 0
)

const LOOK_UP = `import java.net.*;
public class LookUp {
  public static void main(String[] names) throws Exception {
    for (String name : names)
      try {
        System.out.println(name + " " + InetAddress.getByName(name).getHostAddress());
      } catch (UnknownHostException unknown) {
        System.out.println(name + " unknown");
      }
  }
}`

const LOOK_UP_FILE = join(folder, 'LookUp.java')
writeFileSync(LOOK_UP_FILE, LOOK_UP)

function lookUp(
  java: string,
  hosts: string,
  names: readonly string[]
): { code: number | null; lines: string[] } {
  const { status, stdout } = spawnSync(java, [`-javaagent:${JAR}=${hosts}`, LOOK_UP_FILE, ...names], {
    encoding: 'utf8'
  })
  return { code: status, lines: stdout.trimEnd().split('\n') }
}

const [describeWithJava, each] =
  javas.length > 0 ? [describe, javas] : [describe.skip, ['skipped: there is no java on the path']]
describeWithJava.each(each)('%s', (java) => {
  test('gives overridden names their addresses, however they are spelt, and others their own', () => {
    const hosts = 'Shop.invalid/192.0.2.1,six.invalid/2001:db8::1,localhost/192.0.2.2'
    const names = ['shop.INVALID', 'shop.invalid.', 'six.invalid', 'localhost', 'other.invalid', '192.0.2.9']
    expect(lookUp(java, hosts, names)).toEqual({
      code: 0,
      lines: [
        'shop.INVALID 192.0.2.1',
        'shop.invalid. 192.0.2.1',
        'six.invalid 2001:db8:0:0:0:0:0:1',
        'localhost 192.0.2.2',
        'other.invalid unknown',
        '192.0.2.9 192.0.2.9'
      ]
    })
  })

  test('prints the sign that was asked for, once, if it runs a program', () => {
    const option = `"-javaagent:${JAR}=localhost/192.0.2.2;the-sign"`
    const env = { ...process.env, JAVA_TOOL_OPTIONS: option, JDK_JAVA_OPTIONS: option }
    const program = spawnSync(java, [LOOK_UP_FILE, 'localhost'], { encoding: 'utf8', env })
    expect(program.stdout).toBe('the-sign\nlocalhost 192.0.2.2\n')
    expect(spawnSync(java, ['-version'], { encoding: 'utf8', env })).toMatchObject({ status: 0, stdout: '' })
  })

  test('does not start where that cannot be done', () => {
    const { code, lines } = lookUp(java, 'nonsense', ['localhost'])
    expect(code).not.toBe(0)
    expect(lines.join()).not.toContain('127.0.0.1')
  })
})
