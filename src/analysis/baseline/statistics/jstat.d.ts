/** The part of the package that is used; it has no types of its own. */
declare module 'jstat' {
  const jstat: {
    /** The regularized incomplete beta function. */
    ibeta(x: number, a: number, b: number): number
    readonly chisquare: { inv(probability: number, dof: number): number }
    readonly studentt: { inv(probability: number, dof: number): number }
  }
  export default jstat
}
