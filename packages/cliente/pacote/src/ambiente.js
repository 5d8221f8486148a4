/** A sandbox of one's own: it is made in the shared one, and kept by whoever has its key. */
import { corpoJson } from './corpo.js';
export function doAmbienteBy({ ler, pedir }) {
    return {
        criarAmbiente: async (dados = {}, own) => {
            const { ambiente, chave } = await ler('criarAmbiente', { corpo: corpoJson(dados), exige: 'chave', ...own });
            return { ambiente, chave };
        },
        consultarAmbiente: async (token, own) => (await ler('consultarAmbiente', { token, ...own })).ambiente,
        alterarAmbiente: async (token, dados, own) => (await ler('alterarAmbiente', { token, corpo: corpoJson(dados), ...own })).ambiente,
        reiniciarAmbiente: async (token, dados = {}, own) => (await ler('reiniciarAmbiente', { token, corpo: corpoJson(dados), ...own })).ambiente,
        descartarAmbiente: async (token, own) => void (await ler('descartarAmbiente', { token, ...own })),
        listarPersonas: async (token, own) => (await ler('listarPersonas', { token, ...own })).personas,
        documentoDaPersona: async (token, persona, cenario, own) => {
            const asked = { token, params: { persona, cenario }, gives: 'application/xml', ...own };
            return new TextDecoder().decode((await pedir('documentoDaPersona', asked)).corpo);
        },
    };
}
