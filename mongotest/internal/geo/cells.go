package geo

import "github.com/golang/geo/s2"

// mostCells are how many cells an index has of one geometry, if fewer do not need it.
const mostCells = 20

// Cells returns the numbers of the cells that an index has of a geometry: a point's own, or some of the given levels that cover it.
func (g *Geometry) Cells(coarsest, finest int) []int64 {
	if len(g.points) == 1 && len(g.lines)+len(g.polygons) == 0 {
		return []int64{int64(s2.CellFromPoint(g.points[0]).ID())}
	}
	var region s2.RegionUnion
	for _, p := range g.points {
		region = append(region, p)
	}
	for _, l := range g.lines {
		region = append(region, l)
	}
	for _, p := range g.polygons {
		region = append(region, p)
	}
	if len(region) == 0 {
		return nil
	}
	coverer := s2.RegionCoverer{MinLevel: coarsest, MaxLevel: finest, LevelMod: 1, MaxCells: mostCells}
	var list []int64
	for _, cell := range coverer.Covering(region) {
		list = append(list, int64(cell))
	}
	return list
}
