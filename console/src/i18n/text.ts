import { createStore, useStore } from '#console/api/store.ts'

export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages
type Other = Exclude<Language, 'en'>

const storageKey = 'language'

/** Returns the stored choice, else the first available language of the browser. */
function preferred(): Language {
  // Parts without a page are tested outside of a browser.
  const wished = [globalThis.localStorage?.getItem(storageKey), ...navigator.languages]
  const found = wished.map(one => one?.slice(0, 2)).find(one => one !== undefined && one in languages)
  return (found ?? 'en') as Language
}

/** The displayed language; set by `chooseLanguage`. */
export const language = createStore<Language>(preferred())

/** Texts of a view in all languages: English is a part of the view, the others are loaded on demand. */
export interface Text<Messages> {
  current(): Messages
}

interface Loadable {
  load(wanted: Language): Promise<void>
}
const loadable: Loadable[] = []

/**
 * Declares the texts of a view: `export const text = defineText(en, { de: () => import('./de.ts') })`. A
 * message is a string, or a function of its values, so that each language chooses plurals and order.
 */
export function defineText<Messages>(
  en: Messages,
  others: Record<Other, () => Promise<{ default: Messages }>>,
): Text<Messages> {
  const loaded: Partial<Record<Language, Messages>> = { en }
  loadable.push({
    async load(wanted) {
      if (wanted !== 'en') loaded[wanted] ??= (await others[wanted]()).default
    },
  })
  return { current: () => loaded[language.get()] ?? en }
}

/** Loads the declared texts in the current language, before a view is shown. */
export async function loadTexts(wanted = language.get()): Promise<void> {
  await Promise.all(loadable.map(one => one.load(wanted)))
}

export async function chooseLanguage(wanted: Language): Promise<void> {
  await loadTexts(wanted)
  localStorage.setItem(storageKey, wanted)
  document.documentElement.lang = wanted
  language.set(wanted)
}

/** The messages of a view in the current language. */
export function useText<Messages>(text: Text<Messages>): Messages {
  useStore(language)
  return text.current()
}
