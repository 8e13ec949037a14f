import type { KeyboardEvent as ReactKeyboardEvent } from 'react'

/**
 * Returns the name of the pressed key, such as `Enter`, `Shift+Enter` or `Control+s` (Command counts as Control). Empty for
 * a key that belongs to an input method: Safari reports the Enter that ends a composition by its code alone.
 */
export function keyOf({ key, keyCode, isComposing, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string {
  if (isComposing || keyCode === 229) return ''
  // The character of a key includes Shift already.
  return `${ctrlKey || metaKey ? 'Control+' : ''}${shiftKey && key.length > 1 ? 'Shift+' : ''}${key}`
}

type Act<Target> = ((event: ReactKeyboardEvent<Target>) => unknown) | false | undefined

/**
 * Returns a handler for `onKeyDown` that runs the action of the pressed key, unless an inner element took the key. The browser
 * does nothing more with it: an Escape would close a dialog that the action opens.
 */
export function onKeys<Target extends HTMLElement>(actions: Readonly<Record<string, Act<Target>>>) {
  return (event: ReactKeyboardEvent<Target>): void => {
    const act = actions[keyOf(event.nativeEvent)]
    if (!act || event.defaultPrevented) return
    event.preventDefault()
    act(event)
  }
}

/** Returns a handler for `onKeyDown` that acts on Enter, with or without Control. */
export const onEnter = <Target extends HTMLElement>(act: Act<Target>) =>
  onKeys({ Enter: act, 'Control+Enter': act })
