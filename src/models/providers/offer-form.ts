import type { LanguageModel } from '../language-model/language-model.ts'
import { refusesFormat } from '../transport/model-error.ts'

type Model = Pick<LanguageModel, 'doStream'>

/** Returns a model that answers without a format if its server refuses it: the prompt describes it, too. */
export function offeringForm(model: Model): Model {
  return {
    async doStream(options) {
      const { responseFormat, ...formless } = options
      if (responseFormat === undefined) return await model.doStream(options)
      try {
        return await model.doStream(options)
      } catch (error) {
        if (!refusesFormat(error)) throw error
        return await model.doStream(formless)
      }
    },
  }
}
