import type { Interrompivel, Pedidos } from './pedidos.ts';
import type { Consultas, Envios, Evento, Exportacao, Mudanca, NotaListada, Respostas } from './tipos.ts';
/** Em nome de quem: sem `documento`, o do token ou do certificado. */
export type DaParte = Interrompivel & {
    readonly documento?: string;
};
type Ambiente = NonNullable<Envios['pedirToken']['ambiente']>;
/** De que token se fala, e onde. */
type Assinavel = {
    /** CNPJ ou CPF, com ou sem pontuação. */
    readonly documento: string;
    /** O do município (padrão: `homologacao` em `integracao` e em `ensaio-xxxxxx`, `producao` nos outros). Em homologação não se assina. */
    readonly ambiente?: Ambiente;
};
export type PedidoDeToken = Assinavel & Pick<Envios['pedirToken'], 'escopos' | 'validade_dias'>;
export type TokenNomeado = Assinavel & {
    readonly id: string;
};
/** Como se segue o que muda. */
export type Seguimento = DaParte & {
    /** O cursor guardado; `agora`: só o que vier depois; sem ele, tudo o que ainda se conta. */
    readonly desde?: string | undefined;
    /** Segundos que cada pergunta espera no serviço, de 1 a 55 (padrão: 50). */
    readonly esperaS?: number;
    /** Mudanças por resposta (padrão: 1000). */
    readonly limite?: number;
    /**
     * O cursor depois de cada resposta, quando tudo o que veio nela já foi tratado, e também quando nada veio. Guarde-o: um cursor parado
     * por muito tempo deixa de servir.
     */
    readonly aoAvancar?: (cursor: string) => void | Promise<void>;
};
type PorPagina = 'limite' | 'contar';
export type ClienteDaParte = {
    /**
     * Pede um token; só esta resposta o mostra. Com `certificado`, o pedido vai assinado. Se uma resposta se perde, o cliente pede outro, e o
     * perdido fica na lista até vencer.
     */
    pedirToken(pedido: PedidoDeToken, opcoes?: Interrompivel): Promise<Respostas['pedirToken']>;
    /** Os tokens em vigor de um documento, sem o segredo deles. */
    listarTokens(de: Assinavel, opcoes?: Interrompivel): Promise<Respostas['listarTokens']['tokens']>;
    revogarToken(token: TokenNomeado, opcoes?: Interrompivel): Promise<Respostas['revogarToken']>;
    /** Uma página das notas em que o documento é prestador, tomador ou intermediário. */
    listarNotas(filtros?: Consultas['listarNotas'], opcoes?: Interrompivel): Promise<Respostas['listarNotas']>;
    /** Todas elas, página por página. */
    todasAsNotas(filtros?: Omit<Consultas['listarNotas'], PorPagina>, opcoes?: Interrompivel): AsyncIterableIterator<NotaListada>;
    /** Uma página dos eventos das notas do documento. */
    listarEventosDaParte(filtros?: Consultas['listarEventosDaParte'], opcoes?: Interrompivel): Promise<Respostas['listarEventosDaParte']>;
    /** Todos eles, página por página. */
    todosOsEventos(filtros?: Omit<Consultas['listarEventosDaParte'], PorPagina>, opcoes?: Interrompivel): AsyncIterableIterator<Evento>;
    /**
     * Pede as notas num arquivo: `xml` e `pdf` são um ZIP, `csv` uma tabela, com os filtros da lista. Faz-se uma de cada vez por documento.
     * Se a resposta se perde, o cliente pede outra.
     */
    pedirExportacao(pedido: Envios['pedirExportacao'], opcoes?: DaParte): Promise<Exportacao>;
    /** Em que estado está: `em_andamento`, `pronta` ou `falhou`, com o `motivo`. */
    consultarExportacao(id: string, opcoes?: DaParte): Promise<Exportacao>;
    /** O arquivo, inteiro na memória. Se ainda não está pronto, o cliente insiste como em toda chamada. */
    baixarExportacao(id: string, opcoes?: DaParte): Promise<Uint8Array>;
    /** Uma resposta de `mudancas`, com o cursor depois dela. */
    seguirMudancas(consulta?: Consultas['seguirMudancas'], opcoes?: Interrompivel): Promise<Respostas['seguirMudancas']>;
    /**
     * O que muda, sem fim, uma mudança de cada vez, cada uma com o `cursor` de quem já a tratou. Espera no serviço e aguenta que ele saia do
     * ar. Quem guarda o cursor depois de tratar não perde nenhuma mudança nem trata uma duas vezes. Acaba com `signal`, ou com `Recusado`: o
     * token venceu, ou o cursor não serve mais.
     */
    mudancas(seguimento?: Seguimento): AsyncIterableIterator<Mudanca & {
        readonly cursor: string;
    }>;
    /** Cadastra um endereço; só esta resposta mostra o segredo. Sem resposta rejeita com `SemResposta`, e não repete. */
    cadastrarWebhook(dados: Envios['cadastrarWebhook'], opcoes?: DaParte): Promise<Respostas['cadastrarWebhook']>;
    listarWebhooks(opcoes?: DaParte): Promise<Respostas['listarWebhooks']['webhooks']>;
    consultarWebhook(id: string, opcoes?: DaParte): Promise<Respostas['consultarWebhook']>;
    /** Muda só o que se envia. */
    alterarWebhook(id: string, dados: Envios['alterarWebhook'], opcoes?: DaParte): Promise<Respostas['alterarWebhook']['webhook']>;
    retirarWebhook(id: string, opcoes?: DaParte): Promise<void>;
    /** Troca o segredo; por um tempo os avisos vão com os dois. Sem resposta rejeita com `SemResposta`, e não repete. */
    trocarSegredo(id: string, opcoes?: DaParte): Promise<Respostas['trocarSegredoDoWebhook']>;
    /** Pede um aviso de ensaio. */
    ensaiarWebhook(id: string, opcoes?: DaParte): Promise<void>;
    /** Uma página do que se avisou e se tenta avisar. */
    entregas(id: string, filtros?: Consultas['listarEntregas'], opcoes?: Interrompivel): Promise<Respostas['listarEntregas']>;
    /** Volta a tentar o que se deixou de tentar: todas as entregas mortas, ou uma; quantas são. */
    reenviar(id: string, opcoes?: DaParte & {
        readonly entrega?: string;
    }): Promise<number>;
};
export declare function daParteBy(pedidos: Pedidos): ClienteDaParte;
export {};
