/** The package brings no types. */
declare module '@joplin/turndown-plugin-gfm' {
  import type TurndownService from 'turndown'

  /** Tables, strike-through, task lists and highlighted code as GitHub writes them. */
  export const gfm: TurndownService.Plugin
}
