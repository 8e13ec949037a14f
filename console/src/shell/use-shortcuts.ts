import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { keyOf } from '#console/ui/keys.ts'
import { useAgent } from './agent.tsx'
import type { Overlay } from './agent-frame.tsx'
import { isFor, railViews } from './feature.ts'
import { singleKeys } from './preferences.ts'

/** Max time between G and the letter of a view (ms). */
const secondKeyMs = 1500

/** Handles keys that work in all views. Single letters don't count during typing or in a dialog. */
export function useShortcuts(onOpen: (overlay: Overlay) => void): void {
  const agent = useAgent()
  const navigate = useNavigate()
  useEffect(() => {
    let pressedG = 0
    function press(event: KeyboardEvent): void {
      const key = keyOf(event).toLowerCase()
      if (key === 'control+k') {
        event.preventDefault()
        onOpen('commands')
      } else if (!isBusy(event)) pressSingle(key, event.timeStamp)
    }
    function pressSingle(key: string, at: number): void {
      if (key === '?') onOpen('shortcuts')
      const isSecond = at - pressedG < secondKeyMs
      pressedG = key === 'g' ? at : 0
      const view = railViews.find(one => one.rail.key === key && isFor(agent, one))
      if (isSecond && view) void navigate({ to: `${agent.home}/${view.path}` })
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [agent, navigate, onOpen])
}

function isBusy({ target, altKey }: KeyboardEvent): boolean {
  const isWriting =
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select, canvas'))
  return altKey || isWriting || singleKeys.get() === 'off' || document.querySelector('dialog[open]') !== null
}
