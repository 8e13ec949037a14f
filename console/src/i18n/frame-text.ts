import { en } from './en.ts'
import { defineText } from './text.ts'

/** Texts of the frame and of `ui/`. */
export const frameText = defineText(en, { de: () => import('./de.ts') })
