package conv

var convTilesAVX512F32 = [][]func(*convTile){
	{convTileAVX512F32x1x1, convTileAVX512F32x1x2},
	{convTileAVX512F32x2x1, convTileAVX512F32x2x2},
	{convTileAVX512F32x3x1, convTileAVX512F32x3x2},
	{convTileAVX512F32x4x1, convTileAVX512F32x4x2},
	{convTileAVX512F32x5x1, convTileAVX512F32x5x2},
	{convTileAVX512F32x6x1, convTileAVX512F32x6x2},
	{convTileAVX512F32x7x1, convTileAVX512F32x7x2},
	{convTileAVX512F32x8x1, convTileAVX512F32x8x2},
	{convTileAVX512F32x9x1, convTileAVX512F32x9x2},
	{convTileAVX512F32x10x1, convTileAVX512F32x10x2},
	{convTileAVX512F32x11x1, convTileAVX512F32x11x2},
	{convTileAVX512F32x12x1, convTileAVX512F32x12x2},
}

var convTilesAVX512F64 = [][]func(*convTile){
	{convTileAVX512F64x1x1, convTileAVX512F64x1x2},
	{convTileAVX512F64x2x1, convTileAVX512F64x2x2},
	{convTileAVX512F64x3x1, convTileAVX512F64x3x2},
	{convTileAVX512F64x4x1, convTileAVX512F64x4x2},
	{convTileAVX512F64x5x1, convTileAVX512F64x5x2},
	{convTileAVX512F64x6x1, convTileAVX512F64x6x2},
	{convTileAVX512F64x7x1, convTileAVX512F64x7x2},
	{convTileAVX512F64x8x1, convTileAVX512F64x8x2},
	{convTileAVX512F64x9x1, convTileAVX512F64x9x2},
	{convTileAVX512F64x10x1, convTileAVX512F64x10x2},
	{convTileAVX512F64x11x1, convTileAVX512F64x11x2},
	{convTileAVX512F64x12x1, convTileAVX512F64x12x2},
}

var convTilesAVX2F32 = [][]func(*convTile){
	{convTileAVX2F32x1x1, convTileAVX2F32x1x2},
	{convTileAVX2F32x2x1, convTileAVX2F32x2x2},
	{convTileAVX2F32x3x1, convTileAVX2F32x3x2},
	{convTileAVX2F32x4x1, convTileAVX2F32x4x2},
	{convTileAVX2F32x5x1, convTileAVX2F32x5x2},
	{convTileAVX2F32x6x1, convTileAVX2F32x6x2},
}

var convTilesAVX2F64 = [][]func(*convTile){
	{convTileAVX2F64x1x1, convTileAVX2F64x1x2},
	{convTileAVX2F64x2x1, convTileAVX2F64x2x2},
	{convTileAVX2F64x3x1, convTileAVX2F64x3x2},
	{convTileAVX2F64x4x1, convTileAVX2F64x4x2},
	{convTileAVX2F64x5x1, convTileAVX2F64x5x2},
	{convTileAVX2F64x6x1, convTileAVX2F64x6x2},
}
