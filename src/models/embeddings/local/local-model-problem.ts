/** What an operator has to put right before the model can be used, as a sentence without any path of the machine. */
export class LocalModelProblem extends Error {}
