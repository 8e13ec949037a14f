import type { DefinedAction } from './action.ts'
import { back } from './back.ts'
import { click } from './click.ts'
import { evaluate } from './evaluate.ts'
import { extract } from './extract.ts'
import { hover } from './hover.ts'
import { navigate } from './navigate.ts'
import { outline } from './outline.ts'
import { press } from './press.ts'
import { screenshot } from './screenshot.ts'
import { scroll } from './scroll.ts'
import { select } from './select.ts'
import { tabs } from './tabs.ts'
import { type } from './type.ts'
import { upload } from './upload.ts'
import { wait } from './wait.ts'

export const actionNames = [
  'navigate',
  'click',
  'type',
  'press',
  'screenshot',
  'extract',
  'scroll',
  'wait',
  'hover',
  'select',
  'upload',
  'evaluate',
  'outline',
  'back',
  'tabs',
] as const
export type ActionName = (typeof actionNames)[number]

export const actions = {
  navigate,
  click,
  type,
  press,
  screenshot,
  extract,
  scroll,
  wait,
  hover,
  select,
  upload,
  evaluate,
  outline,
  back,
  tabs,
} satisfies Record<ActionName, DefinedAction>
