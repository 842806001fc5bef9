import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ImageShell } from '../../../../src/service/nodes/load-node.js'

/** An image in a folder of this machine: what is asked runs in a real shell that sees nothing else. */
export class LocalImage implements ImageShell {
  readonly name = 'the image shop/node:1'
  readonly env: Record<string, string> = {}

  constructor(private readonly root: string) {
    for (const name of ['sleep', 'readlink', 'cat']) {
      mkdirSync(join(root, 'bin'), { recursive: true })
      symlinkSync(`/bin/${name}`, join(root, 'bin', name))
    }
  }

  /** A program that prints these lines. */
  install(path: string, ...lines: readonly string[]): void {
    this.write(path, ['#!/bin/sh', ...lines.map((line) => `echo '${line}'`), ''].join('\n'))
    chmodSync(join(this.root, path), 0o755)
  }

  write(path: string, text = ''): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), text)
  }

  link(path: string, target: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    symlinkSync(join(this.root, target), join(this.root, path))
  }

  ask(script: string, args: readonly string[] = []): Promise<{ code: number; lines: readonly string[] }> {
    const inRoot = (path: string): string =>
      path.startsWith('/') && !path.startsWith('/dev/') ? `${this.root}${path}` : path
    const env: NodeJS.ProcessEnv = { PATH: `relative:${this.root}/usr/bin:${this.root}/bin` }
    for (const [name, value] of Object.entries(this.env)) env[name] = inRoot(value)
    const command = ['-c', script, 'sh', ...args.map(inRoot)]
    return new Promise((resolve) => {
      execFile('/bin/sh', command, { env, cwd: '/' }, (error, stdout, stderr) => {
        const text = `${stdout}${stderr}`.replaceAll(this.root, '')
        const lines = text.split('\n').filter((line) => line !== '')
        resolve({ code: error === null ? 0 : Number(error.code), lines })
      })
    })
  }
}

/** What a Java prints about itself; it prints the same to whatever it is asked. */
export const JAVA_17 = 'openjdk version "17.0.16" 2025-07-15'
