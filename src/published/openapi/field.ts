/**
 * The types in which an answer is described: a field, and the names of the shapes that answers share. The public description is
 * made of them, and the tests compare every answer with them. The fields of a shape stand where the answer is made; `shapes.ts`
 * of the door gathers them.
 */

export type ShapeName =
  | 'Nota'
  | 'NotaComCancelamento'
  | 'Protocolo'
  | 'Aviso'
  | 'Erro'
  | 'MunicipioIncidencia'
  | 'Valores'
  | 'ValoresIbsCbs'
  | 'Passo'
  | 'Evento'
  | 'ErrosAdn'
  | 'Detalhes'
  | 'Resumo'
  | 'Algoritmo'
  | 'AtributoAssinado'
  | 'Valor'
  | 'Inscricao'
  | 'SimplesNacional'
  | 'ObrigacaoIbsCbs'
  | 'Pendencia'
  | 'CertificadoApresentado'
  | 'CertificadoDaAssinatura'
  | 'ParteDaAssinatura'
  | 'Paginacao'
  | 'ServicoMunicipal'
  | 'ServicoNacional'
  | 'Nbs'
  | 'MunicipioIbge'
  | 'Pais'
  | 'Moeda'
  | 'MotivoEvento'
  | 'Incidencia'
  | 'CorrelacaoDoServico'
  | 'CorrelacaoDaNbs'
  | 'CombinacaoIbsCbs'
  | 'CombinacaoDaNbs'
  | 'CampoDeEvento'
  | 'ObrigatorioCom'
  | 'OpcoesPorCampo'
  | 'EnderecoDeEvento'
  | 'ExemploDeEvento'
  | 'CodigoDaTabela'
  | 'LugarDoCodigo'
  | 'PedidoDeExemplo'
  | 'ExemplosDoCodigo'
  | 'Trecho'
  | 'TrechoRecusado';

/** The notation of a text, where it is promised. */
export type Formato =
  | 'chave'
  | 'decimal'
  | 'dia'
  | 'dia_brasileiro'
  | 'momento'
  | 'momento_espacado'
  | 'endereco'
  | 'xml'
  | 'codigo';

export type Field = {
  /** `number` is an integer; amounts are texts (D-05). */
  readonly type: 'string' | 'string[]' | 'number' | 'number[]' | 'boolean' | ShapeName | `${ShapeName}[]`;
  readonly about: string;
  readonly nullable?: true;
  /** It may be left out. */
  readonly optional?: true;
  /** All values that it may have. */
  readonly values?: readonly (string | number)[];
  readonly formato?: Formato;
};

export type Fields = Readonly<Record<string, Field>>;

/** `objeto`: an object whose properties are not described. `texto_ou_objeto`: such an object, or a text. */
export type Shape = Fields | 'objeto' | 'texto_ou_objeto';
