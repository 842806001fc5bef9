import { find } from './elements.js'

const dark = window.matchMedia('(prefers-color-scheme: dark)')
const print = window.matchMedia('print')

/** Follows the system's theme until the button is pressed; printing is always light. Calls `onChange` when colours change. */
export function watchTheme(onChange: () => void): void {
  const root = document.documentElement
  const button = find('theme', HTMLButtonElement)
  let chosen: 'light' | 'dark' | undefined
  const apply = (): void => {
    const theme = print.matches ? 'light' : (chosen ?? (dark.matches ? 'dark' : 'light'))
    button.textContent = theme === 'dark' ? 'Light theme' : 'Dark theme'
    if (root.dataset.theme === theme) return
    root.dataset.theme = theme
    onChange()
  }
  button.addEventListener('click', () => {
    chosen = root.dataset.theme === 'dark' ? 'light' : 'dark'
    apply()
  })
  dark.addEventListener('change', apply)
  print.addEventListener('change', apply)
  button.hidden = false
  apply()
}
