/**
 * Prints what a figure should be and whether it is, and hands it to `npm run bench -- --record`. `unit` is `ratio` for what compares with
 * a peer of the same run; figures in `ms` are not compared with those of earlier runs.
 */
export function reportFigure({ name, value, unit, atLeast, atMost }) {
  const goal = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`
  const outcome = (atLeast === undefined ? value <= atMost : value >= atLeast) ? 'met' : 'missed'
  const rounded = Number(value.toPrecision(4))
  console.log(`\nGoal, ${name}: ${goal}${unit === 'ratio' ? '' : ` ${unit}`}: ${outcome} (${rounded}).`)
  if (outcome === 'missed') process.exitCode = 1
  process.send?.({ figure: name, value: rounded, unit, goal, outcome })
}
