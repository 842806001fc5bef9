/** `1st`, `2nd`, `3rd`, `11th`. */
export function formatPosition(position: number): string {
  const isTeen = Math.floor(position / 10) % 10 === 1
  const ending = isTeen ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[position % 10]
  return `${position.toLocaleString('en-US')}${ending ?? 'th'}`
}
