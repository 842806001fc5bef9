/** Flips, replaces, drops, doubles or cuts bytes, up to four times. */
export function mutateBytes(bytes: Uint8Array, random: () => number): Uint8Array {
  let list = [...bytes]
  const times = 1 + Math.floor(random() * 4)
  for (let i = 0; i < times; i++) {
    const at = Math.floor(random() * list.length)
    const kind = Math.floor(random() * 5)
    if (kind === 0) list[at] = Math.floor(random() * 256)
    else if (kind === 1) list[at] = [34, 44, 10, 13, 0, 45][Math.floor(random() * 6)]!
    else if (kind === 2) list.splice(at, 1 + Math.floor(random() * 9))
    else if (kind === 3) list.splice(at, 0, ...list.slice(at, at + 1 + Math.floor(random() * 30)))
    else list = list.slice(0, at + 1)
  }
  return Uint8Array.from(list)
}
