import { useStore } from '#console/api/store.ts'
import { language } from '#console/i18n/text.ts'
import type { Title } from './view.ts'

export const useTitle = (title: Title): string => title[useStore(language)]
